import { DroverProblem, type ErrorCode } from '#lib/api-client';

/** The error that the client throws for such an answer of the server. */
export function refusal(
  status: number,
  code: string,
  detail = 'No',
  retryAfterSeconds?: number,
): DroverProblem {
  const problem = {
    type: 'about:blank',
    title: 'Refused',
    status,
    code: code as ErrorCode,
    detail,
    advice: 'Do something else.',
    instance: '',
    requestId: '',
  };
  return new DroverProblem(problem, retryAfterSeconds);
}
