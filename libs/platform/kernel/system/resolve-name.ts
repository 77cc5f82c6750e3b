import { lookup, Resolver } from 'node:dns/promises';

const DNS = { timeout: 2_000, tries: 2 };
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA']);

/** Resolves a name to its addresses. @throws Error with the code of the resolver */
export type ResolveName = (name: string) => Promise<string[]>;

/**
 * Asks the name servers and, if `asksSystem`, also the system, which knows local names. Not only the
 * system, because it answers on one of four threads, which names without an answer would block for
 * seconds.
 */
export function nameResolver({ asksSystem }: { asksSystem: boolean }): ResolveName {
  const resolver = new Resolver(DNS);
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (addresses.length > 0) return addresses;
    const [{ reason }] = answers as [PromiseRejectedResult, PromiseRejectedResult];
    const { code = '' } = reason as NodeJS.ErrnoException;
    if (!asksSystem || !(UNKNOWN.has(code) || isLocal(name))) throw reason as Error;
    const found = await lookup(name, { all: true });
    return found.map(({ address }) => address);
  };
}

// A name of this machine, whatever name servers say.
function isLocal(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}
