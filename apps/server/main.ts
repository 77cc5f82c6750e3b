import '#lib/env/node';

// The build bundles program.ts with everything that it imports, because one file loads in half the
// time of some thousands. Stack traces still show the sources.
process.setSourceMapsEnabled(true);
await import('#program/server');
