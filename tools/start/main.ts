// A bundle, as in apps/server/main.ts.
process.setSourceMapsEnabled(true);
await import('#program/start');
