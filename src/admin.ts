#!/usr/bin/env node
// In its own file, as main.ts: the build replaces the module that it imports with the bundle.
import './administer.js';
