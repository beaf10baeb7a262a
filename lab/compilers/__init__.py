"""`celosia bench compilers`: one idea of each compiler that the survey names, as it works here."""
