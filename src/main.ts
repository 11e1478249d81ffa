// In its own file: the build replaces the module that it imports with the bundle (scripts/bundle-server.mjs).
import './start.js';
