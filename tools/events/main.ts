import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../shared/project.js';
import { withCatalogue } from './catalogue.js';

const page = join(projectRoot, 'docs', 'events.md');
writeFileSync(page, withCatalogue(readFileSync(page, 'utf8')));
