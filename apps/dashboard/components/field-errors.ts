import { createContext } from 'react';
import { DroverProblem } from '#lib/api-client';
import { FormError } from '../domain/task-draft.js';

/** The error of the request of a form, for the fields of the form. */
export const FormProblem = createContext<unknown>(undefined);

/** The sentence of a field, by the label of the field, or undefined if the field is right. */
export function describeFieldError(
  error: unknown,
  name: string,
  label: string,
): string | undefined {
  const fault = faultsOf(error).find(({ field }) => isOfField(field, name));
  if (fault === undefined) return undefined;
  const { message } = fault;
  const sentence = /^[a-z]/.test(message) ? `${label} ${message}` : message;
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** True if the form has a field for each error of its request. */
export function hasAllFields(error: unknown, form: HTMLFormElement | null): boolean {
  const names = [...(form?.elements ?? [])].map((element) => element.getAttribute('name') ?? '');
  const faults = faultsOf(error);
  return (
    faults.length > 0 &&
    faults.every(({ field }) => names.some((name) => name !== '' && isOfField(field, name)))
  );
}

function faultsOf(error: unknown) {
  if (error instanceof FormError && error.field !== undefined)
    return [{ field: error.field, message: error.message }];
  return error instanceof DroverProblem ? (error.problem.errors ?? []) : [];
}

/** A field covers its parts (`tags[0]`), and a form can be one part of a request (`tasks[0].title`). */
function isOfField(path: string, name: string): boolean {
  const field = path.replace(/\[\d+\]|\.\d+(?=\.|$)/g, '');
  return field === name || field.startsWith(`${name}.`) || field.endsWith(`.${name}`);
}
