/** A mistake in a form that the server would not see. Its message is for the user. */
export class FormError extends Error {}

/** Builds the request for a new task from its form. @throws FormError if the input is invalid JSON */
export function toTaskDraft(form: FormData) {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const list = (name: string, between = /[,\s]/) =>
    text(name)
      .split(between)
      .map((part) => part.trim())
      .filter((part) => part !== '');
  // A tag can contain spaces.
  const tags = list('tags', /,/);
  const input = parseInput(text('input'));
  const command = text('command');
  const inputContext = command === '' ? input : { ...input, command: ['sh', '-c', command] };
  return {
    title: text('title'),
    taskType: text('taskType'),
    priority: Number(text('priority')),
    maxRetries: Number(text('maxRetries')),
    ...(text('description') !== '' && { description: text('description') }),
    ...(inputContext && { inputContext }),
    ...(list('capabilities').length > 0 && { requiredCapabilities: list('capabilities') }),
    ...(tags.length > 0 && { tags }),
    ...(list('dependsOn').length > 0 && { dependsOn: list('dependsOn') }),
  };
}

/** @throws FormError if the text is neither empty nor a JSON object */
export function parseInput(json: string): Record<string, unknown> | undefined {
  if (json === '') return undefined;
  const message =
    'This is not a JSON object. Enter one such as {"branch": "main"}, or leave the field empty.';
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new FormError(message);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new FormError(message);
  return value as Record<string, unknown>;
}
