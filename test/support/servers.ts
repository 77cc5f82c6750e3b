export interface TestServers {
  ownerUrl: string;
  appUrl: string;
  serviceUrl: string;
  valkeyUrl: string;
  /** Where test files find the programs that they share. */
  programsUrl: string;
}

/** The servers of this test run, which test/support/global-setup.mjs has started. */
export function testServers(): TestServers {
  const facts = process.env.DROVER_TEST_SERVERS;
  if (!facts)
    throw new Error('No test servers: run this file through Jest, in a project that has them.');
  return JSON.parse(facts) as TestServers;
}
