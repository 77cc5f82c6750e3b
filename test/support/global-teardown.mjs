export default async function tearDown() {
  const ends = globalThis.__DROVER_TEST_SERVERS__ ?? [];
  globalThis.__DROVER_TEST_SERVERS__ = undefined;
  for (const end of ends) await end();
}
