#!/usr/bin/env node
require('../dist/patchbay.cjs');
