"""What to be told about in a crawl that drops duplicates."""

from spidermon import Monitor, MonitorSuite, monitors

PAGES = "simcrawl/pages/"


@monitors.name("Duplicates")
class DuplicatesMonitor(Monitor):
    @monitors.name("Not too many pages are copies")
    def test_share_of_duplicates(self):
        most = self.data.crawler.settings.getfloat("SPIDERMON_MAX_DUPLICATES")
        # As the log counts: what was dropped, and kept after all, is no copy, and an answer that is no page is neither.
        copies = self._count("exact_duplicate") + self._count("near_duplicate") - self._count("taken_back")
        compared = self._count("checked") - self._count("skipped/status") - self._count("skipped/not_html")
        share = round(copies / max(1, compared), 3)
        # A login or a cookie wall in place of every page looks like this.
        self.assertLessEqual(share, most, msg=f"{share:.1%} of the pages are copies: is there a wall in front of the site?")

    def _count(self, kind):
        return self.data.stats.get(f"{PAGES}{kind}", 0)

    @monitors.name("Pages have text")
    def test_pages_without_text(self):
        stats = self.data.stats
        empty, checked = stats.get(f"{PAGES}skipped/empty", 0), stats.get(f"{PAGES}checked", 0)
        self.assertLess(empty, max(1, checked / 2), msg=f"{empty} of {checked} pages have no text: does the site need a browser?")

    @monitors.name("Nothing failed")
    def test_failures(self):
        for name in ("simcrawl/store/errors", "simcrawl/errors"):
            self.assertEqual(self.data.stats.get(name, 0), 0, msg=f"{name}: pages passed unchecked, the log says why")


class DuplicatesSuite(MonitorSuite):
    monitors = [DuplicatesMonitor]
