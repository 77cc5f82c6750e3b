import { expect, it } from '@jest/globals';
import type pg from 'pg';
import { PrismaTenants } from './prisma.js';
import { Refusals } from '../errors/refusals.js';

const noPool = {} as pg.Pool;

it('Prisma that failed to load is loaded again, and has nothing to close', async () => {
  let loads = 0;
  const fail = () => Promise.reject(new Error(`load ${++loads}`));
  const prisma = new PrismaTenants(noPool, noPool, new Refusals(), fail);
  const work = () => Promise.resolve();
  await expect(prisma.asService(work)).rejects.toThrow('load 1');
  await expect(prisma.asTenant('a', work)).rejects.toThrow('load 2');
  const underWay = prisma.asService(work).catch((error: Error) => error.message);
  await prisma.disconnect();
  expect(await underWay).toBe('load 3');
});
