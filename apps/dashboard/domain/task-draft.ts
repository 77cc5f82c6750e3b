/** The body of a new task, from the fields of its form. @throws Error what is wrong with the JSON */
export function draftOf(form: FormData) {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const list = (name: string, between = /[,\s]/) =>
    text(name)
      .split(between)
      .map((part) => part.trim())
      .filter((part) => part !== '');
  // A tag may have blanks.
  const tags = list('tags', /,/);
  const input = inputOf(text('input'));
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

function inputOf(json: string): Record<string, unknown> | undefined {
  if (json === '') return undefined;
  const wrong = 'This is no JSON object. Write one, such as {"branch": "main"}, or leave it empty.';
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error(wrong);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(wrong);
  return value as Record<string, unknown>;
}
