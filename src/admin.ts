#!/usr/bin/env node
// A file of its own, as main.ts is: the build puts what is bundled in the place of what it imports.
import './administer.js';
