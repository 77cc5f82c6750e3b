/** One entry of the list. */
export function e(status: number, title: string, advice: string): ErrorSpec {
  return { status, title, advice };
}

export interface ErrorSpec {
  readonly status: number;
  readonly title: string;
  readonly advice: string;
}
