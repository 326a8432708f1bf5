"""Uploaded data: a CSV file is uploaded, looked at, and used; or the data that come with the target again."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.settings.uploads import Upload, takes_data
from dashboard.widgets.controls import Controls, bound
from dashboard.widgets.markup import unmarked, verbatim
from mahmc import InvalidInput, tabular
from mahmc.tabular import Table
from mahmc.targets import FAMILIES

NO_TRUTH = (
    "The exact posterior of your data is unknown, so marginals are not checked. The joint tests simulate their data "
    "and do not need an exact posterior."
)


def described(upload: Upload) -> str:
    """The data in Markdown: file, size, the column that is explained, and fingerprint."""
    return (
        f"{verbatim(upload.file)}, {upload.size}, {verbatim(upload.column)} explained, fingerprint {upload.fingerprint}"
    )


def choose(page: Controls) -> None:
    """A file to upload, or back to the data that come with the target."""
    tab, choices = page.tab, page.settings.choices
    if not takes_data(choices.target):
        return
    used = tab.uploads.get(choices.data)
    if used is not None:
        st.markdown(f"**Your data**: {described(used)}")
        back = f"Back to the {FAMILIES[choices.target].own_data}"
        st.button(back, icon=":material/undo:", width="stretch", key="upload.back",
                  on_click=page.take, args=("data", ""))  # fmt: skip
    file = st.file_uploader(
        "Your own data, a CSV file", "csv", key="upload.csv", max_upload_size=tabular.MOST_BYTES // 2**20,
        help=f"Numeric columns. One column has zeros and ones; the other columns explain it. At most "
             f"{tabular.MOST_ROWS:,} rows and {tabular.MOST_FEATURES} explaining columns. They are standardised.",
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
    upload, problem = _upload(file.file_id, column, choices.target, file.name, table)
    if upload is None:
        _refuse(problem)
    elif used is None or used.fingerprint != upload.fingerprint:
        st.button("Use these data", type="primary", icon=":material/check:", on_click=tab.use, args=(upload,),
                  width="stretch", key="upload.use")  # fmt: skip


def _refuse(problem: str) -> None:
    st.error(f"This file cannot be used: {unmarked(problem)}", icon=":material/error:")


@st.cache_resource(scope="session", max_entries=2, show_spinner="Reading the file …")
def _table(file_id: str, _file: Any) -> tuple[Table | None, str]:
    """The table in a file, or why the file cannot be read. Cached by `file_id`."""
    del file_id
    try:
        return tabular.read(_file.getvalue()), ""
    except InvalidInput as refusal:
        return None, str(refusal)


@st.cache_resource(scope="session", max_entries=2, show_spinner="Preparing the data …")
def _upload(file_id: str, column: str, target: str, name: str, _table: Table) -> tuple[Upload | None, str]:
    """The data that explain this column, or why they cannot be used. Cached by `file_id`, column and name."""
    del file_id
    try:
        return Upload.of(target, name, _table, column), ""
    except InvalidInput as refusal:
        return None, str(refusal)


def choose_known(page: Controls, name: str) -> None:
    """Where data were uploaded before: which of them are used, or those that come with the target."""
    uploads = page.tab.uploads
    if not uploads:
        st.caption("Upload your own data on Explore, in the full view.")
        return
    own = FAMILIES[page.settings.choices.target].own_data
    titles = {"": f"The {own}"} | {mark: f"{upload.file}, {upload.size}" for mark, upload in uploads.items()}
    value = page.entry(name).value if page.entry(name).value in titles else ""
    key = f"{page.page}.data.{len(uploads)}"
    st.selectbox("Data", tuple(titles), list(titles).index(value), format_func=titles.__getitem__,
                 **bound(key, value, lambda mark: page.take(name, mark)))  # fmt: skip
