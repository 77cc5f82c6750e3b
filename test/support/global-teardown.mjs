export default async function tearDown() {
  const stack = globalThis.__DROVER_TEST_STACK__;
  globalThis.__DROVER_TEST_STACK__ = undefined;
  await stack?.stop();
}
