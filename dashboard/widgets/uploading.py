"""Uploaded data for BLR: a CSV file is uploaded, looked at, and used; or the breast cancer data again."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.settings.uploads import TARGET, Upload
from dashboard.widgets.controls import Controls, bound
from dashboard.widgets.markup import unmarked, verbatim
from mahmc import InvalidInput, tabular
from mahmc.tabular import Table

BREAST_CANCER = "The breast cancer data"
NO_TRUTH = (
    "The exact posterior of your data is unknown, so marginals are not checked. The joint tests need no data of yours: "
    "they simulate their own."
)


def described(upload: Upload) -> str:
    """Which data, in Markdown: the file, its size, what is explained, and the fingerprint."""
    return (
        f"{verbatim(upload.file)}, {upload.size}, {verbatim(upload.column)} explained, fingerprint {upload.fingerprint}"
    )


def choose(page: Controls) -> None:
    """For BLR: a file to upload, or back to the data that come with it."""
    tab, choices = page.tab, page.settings.choices
    if choices.target != TARGET:
        return
    used = tab.uploads.get(choices.data)
    if used is not None:
        st.markdown(f"**Your data**: {described(used)}")
        st.button("Back to the breast cancer data", icon=":material/undo:", width="stretch", key="upload.back",
                  on_click=page.take, args=("data", ""))  # fmt: skip
    file = st.file_uploader(
        "Your own data, a CSV file", "csv", key="upload.csv", max_upload_size=tabular.MOST_BYTES // 2**20,
        help=f"Numeric columns, one of them of zeros and ones that the others explain; at most {tabular.MOST_ROWS:,} "
             f"rows and {tabular.MOST_FEATURES} columns beside it. They are standardised, and an intercept is added.",
    )  # fmt: skip
    if file is None:
        return
    table, problem = _table(file.file_id, file)
    if table is None:
        _refuse(problem)
        return
    st.dataframe(pd.DataFrame(table.preview, columns=list(table.names)), hide_index=True)
    st.caption(f"The first {len(table.preview)} of {len(table.cells):,} rows.")
    first = next(iter(table.binary), table.names[0])
    column = st.selectbox("Column to explain, of zeros and ones", table.names, table.names.index(first),
                          key=f"upload.column.{file.file_id}")  # fmt: skip
    upload, problem = _upload(file.file_id, column, file.name, table)
    if upload is None:
        _refuse(problem)
    elif used is None or used.fingerprint != upload.fingerprint:
        st.button("Use these data", type="primary", icon=":material/check:", on_click=tab.use, args=(upload,),
                  width="stretch", key="upload.use")  # fmt: skip


def _refuse(problem: str) -> None:
    st.error(f"This file cannot be used: {unmarked(problem)}", icon=":material/error:")


@st.cache_resource(scope="session", max_entries=2, show_spinner="Reading the file …")
def _table(file_id: str, _file: Any) -> tuple[Table | None, str]:
    """The table in a file, or why there is none."""
    try:
        return tabular.read(_file.getvalue()), ""
    except InvalidInput as refusal:
        return None, str(refusal)


@st.cache_resource(scope="session", max_entries=2, show_spinner="Preparing the data …")
def _upload(file_id: str, column: str, name: str, _table: Table) -> tuple[Upload | None, str]:
    """The data for this column, or why they cannot be used."""
    try:
        return Upload.of(name, _table, column), ""
    except InvalidInput as refusal:
        return None, str(refusal)


def choose_known(page: Controls, name: str) -> None:
    """Where data were uploaded before: which of them are used, or the breast cancer data."""
    uploads = page.tab.uploads
    if not uploads:
        st.caption("Your own data are uploaded on Explore, in the full view.")
        return
    titles = {"": BREAST_CANCER} | {mark: f"{upload.file}, {upload.size}" for mark, upload in uploads.items()}
    value = page.entry(name).value if page.entry(name).value in titles else ""
    key = f"{page.page}.data.{len(uploads)}"
    st.selectbox("Data", tuple(titles), list(titles).index(value), format_func=titles.__getitem__,
                 **bound(key, value, lambda mark: page.take(name, mark)))  # fmt: skip
