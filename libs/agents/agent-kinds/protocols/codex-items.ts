import type { AgentEvent, FileDiff } from '../domain/agent-event.js';
import { type JsonObject, objectOf, objectsOf, textOf } from './json-lines.js';

/** Turns an item of Codex' conversation into the events of its start. */
export function eventsOfStart(item: JsonObject): AgentEvent[] {
  const call = toCall(item);
  return call === undefined ? [] : [{ type: 'tool_call', id: textOf(item.id), ...call }];
}

/** Turns an item into the events of its end. */
export function eventsOfEnd(item: JsonObject): AgentEvent[] {
  const id = textOf(item.id);
  switch (item.type) {
    case 'agentMessage':
    case 'plan':
      return said('message', textOf(item.text));
    case 'reasoning':
      return said('thought', [...texts(item.summary), ...texts(item.content)].join('\n\n'));
    case 'contextCompaction':
      return [{ type: 'notice', level: 'info', text: 'The conversation was shortened.' }];
    case 'commandExecution': {
      const output = textOf(item.aggregatedOutput);
      return [{ type: 'tool_result', id, ok: item.exitCode === 0, output }];
    }
    case 'fileChange': {
      const diffs = objectsOf(item.changes).map(toDiff);
      const output = `${textOf(item.status)}: ${diffs.map(({ path }) => path).join(', ')}`;
      return [{ type: 'tool_result', id, ok: item.status === 'completed', output, diffs }];
    }
    case 'mcpToolCall': {
      const failure = textOf(objectOf(item.error).message);
      const contents = objectsOf(objectOf(item.result).content).map(({ text }) => textOf(text));
      const output = failure === '' ? contents.join('\n') : failure;
      return [{ type: 'tool_result', id, ok: item.status === 'completed', output }];
    }
    default:
      if (toCall(item) === undefined) return [];
      return [{ type: 'tool_result', id, ok: item.status !== 'failed', output: '' }];
  }
}

function toCall(item: JsonObject): { name: string; title: string; input: unknown } | undefined {
  switch (item.type) {
    case 'commandExecution': {
      const command = textOf(item.command);
      return { name: 'shell', title: command, input: { command, cwd: item.cwd } };
    }
    case 'fileChange': {
      const files = objectsOf(item.changes).map(({ path }) => textOf(path));
      return { name: 'apply_patch', title: files.join(', '), input: { files } };
    }
    case 'mcpToolCall': {
      const name = `mcp__${textOf(item.server)}__${textOf(item.tool)}`;
      return { name, title: textOf(item.tool), input: item.arguments };
    }
    case 'dynamicToolCall':
    case 'collabAgentToolCall': {
      const name = textOf(item.tool);
      return { name, title: textOf(item.prompt) || name, input: item.arguments ?? {} };
    }
    case 'webSearch':
      return { name: 'web_search', title: textOf(item.query), input: { query: item.query } };
    case 'imageView':
      return { name: 'view_image', title: textOf(item.path), input: { path: item.path } };
    default:
      return undefined;
  }
}

function said(type: 'message' | 'thought', text: string): AgentEvent[] {
  return text === '' ? [] : [{ type, text, delta: false }];
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(textOf).filter((text) => text !== '') : [];
}

/** The paths that changes of files name, also the new ones of renamed files. */
export function pathsOf(changes: readonly JsonObject[]): string[] {
  return changes.flatMap(({ path, kind }) => [textOf(path), textOf(objectOf(kind).move_path)]);
}

export function toDiff({ path, diff }: JsonObject): FileDiff {
  return { path: textOf(path), diff: textOf(diff) };
}
