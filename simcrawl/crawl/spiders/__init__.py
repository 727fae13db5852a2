"""Ready spiders: `site` crawls one web site, `demo` a small one that it serves itself."""
