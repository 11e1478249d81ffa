/** Whether a version may be executed; null where no client has said. */
export const EXECUTABLE_SCHEMA = `
ALTER TABLE file_versions ADD COLUMN executable INTEGER;
`;
