"""What commands show and write: tables, and the files of reports."""
