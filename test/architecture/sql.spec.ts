import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readRooms, rendered } from '../../tools/sql/rooms.js';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { rooms } = await readRooms(ROOT);

describe('the rendered SQL', () => {
  it.each(rooms.map((room) => [`${room.path}/queries.sql`, room] as const))(
    '%s is what the modules declare',
    (path, room) => {
      const fresh = existsSync(join(ROOT, path)) && read(path) === rendered(room);
      if (!fresh) throw new Error(`${path} is stale: run npm run sql`);
    },
  );

  it('is of every room that there is', () => {
    const folders = ['libs', 'apps'].flatMap((folder) =>
      readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
    );
    const committed = folders.filter((path) => existsSync(join(ROOT, path, 'queries.sql')));
    expect(committed.sort()).toEqual(rooms.map(({ path }) => path).sort());
  });
});
