"""Texts of every script, for properties of what is made of them."""

from __future__ import annotations

from hypothesis import strategies as st

KHMER = "ព្រះរាជាណាចក្រ"
any_text = st.text(
    st.characters()
    | st.characters(categories=["Cs"])
    | st.sampled_from(f"aé_7 \n\r\u2028.’北京大々かナ한글ไท{KHMER}\uffff\u0338ΑΣ\U0001f600\U00020000")
    | st.sampled_from("\u0930\u093e\u0301\xad\u200b\ue000\U0001d800\U000e0100\U000f0000")
)
lines = any_text | st.lists(any_text, max_size=4).map("\n".join)
