/** Finds what former members left in a workspace; the primary key begins with the user. */
export const USAGE_OF_LEAVERS_SCHEMA = `
CREATE INDEX member_usage_workspace ON member_usage (workspace_id) WHERE bytes > 0;
`;
