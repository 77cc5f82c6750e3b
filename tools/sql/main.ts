import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../shared/project.js';
import { readRooms, rendered } from './rooms.js';

const { rooms } = await readRooms(projectRoot);
for (const room of rooms) {
  writeFileSync(join(projectRoot, room.path, 'queries.sql'), rendered(room));
}
