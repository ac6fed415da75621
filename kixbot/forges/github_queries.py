"""The GraphQL documents. Each is validated against GitHub's published schema in the tests."""

VIEWER = "query { viewer { login } }"

MERGED = """
query ($owner: String!, $name: String!, $until: GitObjectID!, $cursor: String) {
  repository(owner: $owner, name: $name) {
    object(oid: $until) {
      ... on Commit {
        history(first: 100, after: $cursor) {
          pageInfo { hasNextPage endCursor }
          nodes {
            oid
            parents(first: 10) { nodes { oid } }
            associatedPullRequests(first: 10) {
              nodes {
                number title body url merged mergedAt baseRefName baseRefOid headRefName headRefOid
                author { login }
                headRepository { nameWithOwner }
                mergeCommit { oid }
              }
            }
          }
        }
      }
    }
  }
}
"""

MINIMIZE = """
mutation ($input: MinimizeCommentInput!) {
  minimizeComment(input: $input) { minimizedComment { isMinimized } }
}
"""

COMMIT = """
mutation ($input: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $input) { commit { oid url } }
}
"""

UPDATE_REFS = """
mutation ($input: UpdateRefsInput!) {
  updateRefs(input: $input) { clientMutationId }
}
"""
