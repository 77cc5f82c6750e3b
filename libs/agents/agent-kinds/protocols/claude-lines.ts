import type {
  AgentEvent,
  FileDiff,
  PermissionRequest,
  ToolCategory,
} from '../domain/agent-event.js';
import { diffOf } from './diff.js';
import { type JsonObject, objectOf, objectsOf, textOf } from './json-lines.js';
import { subjectsOf } from './subjects.js';

/** Turns a piece of a message, an event of the provider's own stream, into events. */
export function eventsOfPiece(event: JsonObject): AgentEvent[] {
  const delta = objectOf(event.delta);
  if (delta.type === 'text_delta') {
    return [{ type: 'message', text: textOf(delta.text), delta: true }];
  }
  if (delta.type === 'thinking_delta') {
    return [{ type: 'thought', text: textOf(delta.thinking), delta: true }];
  }
  return [];
}

/** Turns the blocks of a whole message of the agent into events. */
export function eventsOfAssistant(message: JsonObject): AgentEvent[] {
  return objectsOf(message.content).flatMap((block): AgentEvent[] => {
    if (block.type === 'text') return said('message', textOf(block.text));
    if (block.type === 'thinking') return said('thought', textOf(block.thinking));
    if (block.type !== 'tool_use') return [];
    const name = textOf(block.name);
    const input = objectOf(block.input);
    const call = { id: textOf(block.id), name, title: titleOf(name, input), input };
    const entries = name === 'TodoWrite' ? objectsOf(input.todos) : undefined;
    if (entries === undefined) return [{ type: 'tool_call', ...call }];
    return [
      { type: 'tool_call', ...call },
      { type: 'plan', entries: entries.map(toEntry) },
    ];
  });
}

/** Turns the results of tools, which a message of the user carries, into events. */
export function eventsOfUser(message: JsonObject, result: unknown): AgentEvent[] {
  return objectsOf(message.content)
    .filter(({ type }) => type === 'tool_result')
    .map((block) => {
      const diffs = diffsOf(objectOf(result));
      return {
        type: 'tool_result',
        id: textOf(block.tool_use_id),
        ok: block.is_error !== true,
        output: contentOf(block.content),
        ...(diffs === undefined ? {} : { diffs }),
      };
    });
}

/** The input that tells most about a call of a tool. */
function titleOf(name: string, input: JsonObject): string {
  const keys = [
    'description',
    'command',
    'file_path',
    'path',
    'pattern',
    'query',
    'url',
    'subject',
  ];
  const told = keys.map((key) => textOf(input[key])).find((text) => text !== '');
  return told === undefined ? name : `${name}: ${told}`;
}

const CATEGORIES: Record<string, ToolCategory> = {
  Bash: 'shell',
  Edit: 'edit',
  MultiEdit: 'edit',
  NotebookEdit: 'edit',
  Write: 'edit',
  Glob: 'read',
  Grep: 'read',
  LS: 'read',
  Read: 'read',
};

/** The part of a request for a permission that its input tells. */
export function permissionOf(
  tool: string,
  input: JsonObject,
  { title, workDir }: { title: string; workDir: string },
): Pick<PermissionRequest, 'category' | 'subjects' | 'diffs'> {
  const category = CATEGORIES[tool] ?? 'other';
  const path = textOf(input.file_path) || textOf(input.notebook_path) || textOf(input.path);
  if (category === 'shell') return { category, subjects: [textOf(input.command) || title] };
  const subjects = subjectsOf([path], title, workDir);
  if (category !== 'edit') return { category, subjects };
  const edits = Array.isArray(input.edits) ? objectsOf(input.edits) : [input];
  const diff = edits
    .map((edit) => diffOf(textOf(edit.old_string), textOf(edit.new_string) || textOf(edit.content)))
    .join('');
  return { category, subjects, diffs: [{ path, diff }] };
}

function contentOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map(({ text }) => textOf(text))
    .join('\n');
}

/** A result of an edit has the patch, in hunks; that of a new file has its content. */
function diffsOf(result: JsonObject): FileDiff[] | undefined {
  const path = textOf(result.filePath);
  if (path === '' || !Array.isArray(result.structuredPatch)) return undefined;
  const hunks = objectsOf(result.structuredPatch).map((hunk) => {
    const { oldStart, oldLines, newStart, newLines, lines } = hunk;
    const head = `@@ -${Number(oldStart)},${Number(oldLines)} +${Number(newStart)},${Number(newLines)} @@`;
    return [head, ...(Array.isArray(lines) ? lines.map(textOf) : [])].join('\n');
  });
  if (hunks.length > 0) return [{ path, diff: `${hunks.join('\n')}\n` }];
  return [{ path, diff: diffOf('', textOf(result.content)) }];
}

function said(type: 'message' | 'thought', text: string): AgentEvent[] {
  return text === '' ? [] : [{ type, text, delta: false }];
}

function toEntry({ content, status }: JsonObject) {
  const known = ['in_progress', 'completed'] as const;
  return {
    text: textOf(content),
    status: known.find((word) => word === status) ?? 'pending',
  } as const;
}
