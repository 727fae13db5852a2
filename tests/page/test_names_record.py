from __future__ import annotations

from simcrawl.page import names_record, naming
from tests.page.named import with_parts, with_rows


def test_what_older_versions_did_not_write_says_nothing():
    page = with_rows(("Ann", "yes"), values=("Oak: red", "wood"))
    older = with_parts(page, 6)
    assert names_record.read(older).mixed == names_record.Mixed()
    assert names_record.read(older)[:9] == names_record.read(page)[:9]
    for made in ((page, older), (older, page)):
        assert not naming.holds_more(*made)
        assert not naming.exchange_a_line(*made)
        assert not naming.exchange_values(*made)
        assert not naming.exchange_lines_beside(*made)
