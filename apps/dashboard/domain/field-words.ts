/** Containers of fields in a request, which a form does not show. */
const CONTAINER = /^(?:task|tasks|filter|body)(?:\[\d+\]|\.\d+)?\./;

/** The labels of forms that are not the words of the field. */
const LABELS: Record<string, string> = {
  cron: 'Cron expression',
  everySeconds: 'Interval',
  inputContext: 'Additional input',
  taskType: 'Type',
};

/** The words of a form for a field of a request: `tasks[0].secrets.API_KEY` is "Secrets API_KEY". */
export function nameField(path: string): string {
  const [field = '', ...rest] = path.replace(CONTAINER, '').split('.');
  const words = field
    .replace(/Ids?$|\[\d+\]/g, '')
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const label = LABELS[field] ?? words.charAt(0).toUpperCase() + words.slice(1);
  return [label, rest.join('.')].filter(Boolean).join(' ');
}

/** The sentence of a fault: its message, after the field if the message does not name it. */
export function describeFault(label: string, message: string): string {
  const sentence = /^[a-z]/.test(message) ? `${label} ${message}` : `${label}: ${message}`;
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
