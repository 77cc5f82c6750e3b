import type { JsonSchema, OfferedTool, ScriptedCall } from './script.js';

/** A call of a tool that the agent has. */
export interface ToolCall {
  tool: OfferedTool;
  input: Record<string, unknown>;
  /** The text for a tool that takes free text. */
  text?: string;
}

const WRITERS = ['Write', 'write_file', 'write', 'create_file'];
const SHELLS = ['Bash', 'bash', 'run_shell_command', 'exec_command', 'shell_command', 'shell'];
const PATHS = ['file_path', 'filePath', 'path', 'absolute_path'];
const CONTENTS = ['content', 'contents', 'text'];
const COMMANDS = ['command', 'cmd'];

/** Finds the tool of the agent for a call. Throws for an agent without one. */
export function callTool(call: ScriptedCall, tools: OfferedTool[]): ToolCall {
  if ('tool' in call) return { tool: findByEnd(call.tool, tools), input: call.input };
  if ('run' in call) return runCommand(call.run, tools);
  const writer = find(WRITERS, tools);
  if (writer) {
    const given = { [name(PATHS, writer)]: call.write, [name(CONTENTS, writer)]: call.content };
    return { tool: writer, input: withRequired(given, writer.schema) };
  }
  if (find(SHELLS, tools)) return runCommand(toWriteCommand(call.write, call.content), tools);
  const patcher = find(['apply_patch'], tools);
  if (!patcher) throw noTool('writes files', tools);
  const added = call.content.replace(/\n$/, '').split('\n');
  const lines = [
    '*** Begin Patch',
    `*** Add File: ${call.write}`,
    ...added.map((line) => `+${line}`),
  ];
  const text = [...lines, '*** End Patch', ''].join('\n');
  const input = patcher.isFreeform
    ? {}
    : { [name(['patchText', 'input', 'patch'], patcher)]: text };
  return { tool: patcher, input, text };
}

function runCommand(command: string, tools: OfferedTool[]): ToolCall {
  const shell = find(SHELLS, tools);
  if (!shell) throw noTool('runs commands', tools);
  const parameter = name(COMMANDS, shell);
  const isVector = shell.schema?.properties?.[parameter]?.type === 'array';
  const given = { [parameter]: isVector ? ['bash', '-lc', command] : command };
  return { tool: shell, input: withRequired(given, shell.schema) };
}

function toWriteCommand(path: string, content: string): string {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  return `mkdir -p "$(dirname ${quote(path)})" && printf %s ${quote(content)} > ${quote(path)}`;
}

function find(names: string[], tools: OfferedTool[]): OfferedTool | undefined {
  return names.map((wanted) => tools.find((tool) => tool.name === wanted)).find((tool) => tool);
}

function findByEnd(wanted: string, tools: OfferedTool[]): OfferedTool {
  const found =
    find([wanted], tools) ?? tools.find(({ name: offered }) => offered.endsWith(`_${wanted}`));
  if (!found) throw noTool(`is named ${wanted}`, tools);
  return found;
}

function noTool(purpose: string, tools: OfferedTool[]): Error {
  return new Error(`No tool ${purpose}: ${tools.map((tool) => tool.name).join(', ')}`);
}

/** Returns the parameter that the tool has, or the first one if the tool names none. */
function name(candidates: string[], { schema }: OfferedTool): string {
  const found = candidates.find((candidate) => schema?.properties?.[candidate]);
  return found ?? (candidates[0] as string);
}

function withRequired(given: Record<string, unknown>, schema: JsonSchema = {}) {
  const input: Record<string, unknown> = { ...given };
  for (const required of schema.required ?? []) {
    if (!(required in input)) input[required] = anyValue(schema.properties?.[required]);
  }
  return input;
}

function anyValue({ type, enum: values }: JsonSchema = {}): unknown {
  if (values) return values[0];
  if (type === 'boolean') return false;
  if (type === 'number' || type === 'integer') return 10;
  if (type === 'array') return [];
  if (type === 'object') return {};
  return 'As the script says';
}
