import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Prisma } from '#lib/database';
import { newId } from '#lib/kernel';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { aTenant, type Tenant } from './tenants.js';

type Reader = { findMany(args: { take: number }): Promise<Record<string, unknown>[]> };

/** No action of a tenant creates a row in these tables. */
const EMPTY = ['CoordinatorSearch', 'TokenRevocation', 'UserIdentity', 'UserSession'];

let db: TestDatabase;
let tenant: Tenant;

beforeAll(async () => {
  db = await createTestDatabase();
  tenant = await aTenant(db.owner);
});

afterAll(() => db.drop());

describe('the generated client', () => {
  it.each(Object.values(Prisma.ModelName))('the generated client reads %s', async (model) => {
    const rows = await db.database.service.prisma(async (tx) => {
      const name = `${model.charAt(0).toLowerCase()}${model.slice(1)}`;
      const reader = (tx as unknown as Record<string, Reader | undefined>)[name];
      return reader?.findMany({ take: 1 });
    });
    expect(rows).toHaveLength(EMPTY.includes(model) ? 0 : 1);
  });

  it('the generated client writes rows with domains, defaults and generated columns', async () => {
    const { workspaceId } = tenant;
    const agent = await db.database.tenant(workspaceId).prisma((tx) =>
      tx.agent.create({
        data: { workspaceId, id: newId(), name: 'Made by Prisma', capabilities: ['a', 'b'] },
      }),
    );
    expect(agent).toMatchObject({
      mode: 'pull',
      lifecycle: 'STARTING',
      status: 'STARTING',
      capabilities: ['a', 'b'],
      metadata: {},
      version: 1,
    });
    expect(agent.createdAt).toBeInstanceOf(Date);
  });

  it('the generated client follows the composite references', async () => {
    const { workspaceId, taskId, waitingTaskId } = tenant;
    const task = await db.database.tenant(workspaceId).prisma((tx) =>
      tx.agentTask.findUniqueOrThrow({
        where: { workspaceId_id: { workspaceId, id: taskId } },
        include: { milestone: true, dependents: true, agentTaskTags: true },
      }),
    );
    expect(task.milestone?.id).toBe(tenant.milestoneId);
    expect(task.dependents.map((edge) => edge.taskId)).toEqual([waitingTaskId]);
    expect(task.agentTaskTags.map(({ tag }) => tag)).toEqual(['a tag']);
    expect(typeof task.queueRank).toBe('bigint');
  });
});
