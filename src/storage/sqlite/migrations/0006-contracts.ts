/** Tool contracts as JSON, under their digests of 32 bytes. */
export const CONTRACTS_SCHEMA = `
CREATE TABLE contracts (
  digest BLOB PRIMARY KEY NOT NULL,
  contract TEXT NOT NULL
) STRICT;
`;
