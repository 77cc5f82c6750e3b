import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { aUser } from '../../test/support/factories.js';
import { Housekeeping } from './housekeeping.js';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});

afterAll(() => db.drop());

/** Hours since it expired and since it was ended; what is negative lies ahead. */
async function aSession(expired: number, ended: number | null): Promise<string> {
  const id = newId();
  await db.owner.query(
    `INSERT INTO user_sessions (id, user_id, refresh_hash, created_at, expires_at, revoked_at)
     VALUES ($1, $2, decode(md5($1::uuid::text), 'hex'), now() - interval '30 days',
       now() - make_interval(hours => $3), now() - make_interval(hours => $4))`,
    [id, await aUser(db.owner), expired, ended],
  );
  return id;
}

it('forgets sessions a day after their end, and no others', async () => {
  const kept = [await aSession(-24, null), await aSession(23, null), await aSession(-24, 23)];
  await aSession(25, null);
  await aSession(-24, 25);
  const housekeeping = new Housekeeping(db.database, Logger.create({ level: 'silent' }));
  expect(await housekeeping.round()).toBe(false);
  const { rows } = await db.owner.query<{ id: string }>('SELECT id FROM user_sessions ORDER BY id');
  expect(rows.map(({ id }) => id)).toEqual(kept);
});
