// A terminal obeys escape sequences, control characters and text direction marks.
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[PX^_][^\u001b]*(?:\u001b\\)?|\u001b./gs;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Removes terminal commands from a text of the server. Line ends and tabs stay. */
export function clean(text: string): string {
  return text
    .replace(SEQUENCES, '')
    .replaceAll('\r\n', '\n')
    .replace(CONTROLS, '')
    .replace(DIRECTIONS, '');
}

/** Cleans a text and joins its lines. */
export function cleanLine(text: string): string {
  return clean(text).replace(/\s+/g, ' ').trim();
}

/** Escapes the control characters in JSON that JSON.stringify leaves as they are. */
export function escapeControls(json: string): string {
  const code = (letter: string): string =>
    `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(/[\u007f-\u009f]/g, code).replace(DIRECTIONS, code);
}
