// A file of its own: the build puts the bundled server in the place of what it imports (scripts/bundle-server.mjs).
import './start.js';
