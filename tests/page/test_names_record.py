from __future__ import annotations

from simcrawl.page import names_compared, names_record
from tests.page.named import with_parts, with_rows


def test_what_older_versions_did_not_write_says_nothing():
    page = with_rows(("Ann", "yes"), values=("Oak: red", "wood"))
    older = with_parts(page, 6)
    assert names_record.read(older).mixed == names_record.Mixed()
    assert names_record.read(older)[:9] == names_record.read(page)[:9]
    for made in ((page, older), (older, page)):
        assert not names_compared.holds_more(*made)
        assert not names_compared.exchange_a_line(*made)
        assert not names_compared.exchange_values(*made)
        assert not names_compared.exchange_lines_beside(*made)
