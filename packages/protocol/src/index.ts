/* Entry `@patchbay/protocol`: what everybody on the wire agrees on. It runs in a browser too. */
export * from './accounts.js';
export * from './audit.js';
export * from './blob-pack.js';
export * from './context.js';
export * from './doc-path.js';
export * from './errors.js';
export * from './exact-json.js';
export * from './file-commits.js';
export * from './files.js';
export * from './normalize-text.js';
export * from './patch-batch.js';
export * from './random-id.js';
export * from './relay-events.js';
export * from './tool-contract.js';
export * from './turns.js';
export * from './tools/create-file.js';
export * from './tools/write-patch.js';
