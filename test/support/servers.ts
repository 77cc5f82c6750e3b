export interface TestServers {
  ownerUrl: string;
  appUrl: string;
  serviceUrl: string;
  valkeyUrl: string;
  /** The address at which test files find their shared programs. */
  programsUrl: string;
  /** A folder for artifacts, which is removed after the run. */
  artifactsFolder: string;
}

/** The servers of this test run, started by test/support/global-setup.mjs. */
export function testServers(): TestServers {
  const facts = process.env.DROVER_TEST_SERVERS;
  if (!facts)
    throw new Error('No test servers: run this file through Jest, in a project that has them.');
  return JSON.parse(facts) as TestServers;
}
