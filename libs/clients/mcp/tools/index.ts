import type { Tool } from './tool.js';
import { PERSON_CHANGE_TOOLS } from './person-changes.js';
import { PERSON_FLEET_TOOLS } from './person-fleet.js';
import { PERSON_QUESTION_TOOLS } from './person-questions.js';
import { PERSON_TASK_TOOLS } from './person-tasks.js';
import { PERSON_TEMPLATE_TOOLS } from './person-templates.js';
import { PERSON_TIME_TOOLS } from './person-time.js';
import { RUN_TOOLS } from './run.js';

/** All tools. A run and a person can each have a tool of the same name. */
export const TOOLS: readonly Tool[] = [
  ...RUN_TOOLS,
  ...PERSON_TASK_TOOLS,
  ...PERSON_QUESTION_TOOLS,
  ...PERSON_CHANGE_TOOLS,
  ...PERSON_FLEET_TOOLS,
  ...PERSON_TEMPLATE_TOOLS,
  ...PERSON_TIME_TOOLS,
];
