"""kixbot: what a CI job runs on a pull request, a merge or a schedule."""
