import { JsonObject, OneOf, Text } from '#lib/http';
import { KIND_NAME } from '#lib/kernel';
import { PERMISSION_MODES, type PermissionMode } from '../../domain/task-agent.js';

/** The coding agent of a task. */
export class TaskAgentDto {
  @Text({
    max: 50,
    pattern: { regexp: KIND_NAME, words: 'be lower-case words of letters and digits, joined by -' },
    example: 'codex',
    description: 'The kind of program',
  })
  kind!: string;

  @Text({
    max: 200,
    optional: true,
    example: 'gpt-5.5',
    description: "The model. By default routing chooses it, else the kind's default applies.",
  })
  model?: string;

  @OneOf(PERMISSION_MODES, {
    optional: true,
    description:
      'Tools that the agent uses without asking: all (auto, the default), none (ask), those that ' +
      'only read, to write a plan (plan), or those that only read (read-only). Rules in ' +
      'settings.permissions come first.',
  })
  permissionMode?: PermissionMode;

  @JsonObject({
    optional: true,
    description:
      'Settings of the kind, and permissions: up to 100 rules {tool, pattern, decision}, of which ' +
      'the first that matches allows, denies or asks a person',
  })
  settings?: Record<string, unknown>;
}
