import { type FormEvent, type ReactNode, type RefObject, useState } from 'react';
import { describeError } from '../api/read.js';
import { FormProblem, hasAllFields } from './field-errors.js';
import { Button } from './parts.js';

/** Callbacks for the result of an action. */
interface Callbacks {
  onSuccess: () => void;
  onError: (error: unknown) => void;
}

export interface DialogProps {
  title: string;
  /** The label of the button that confirms. */
  confirm: string;
  onConfirm: (form: FormData, callbacks: Callbacks) => void;
  children: ReactNode;
}

interface ConfirmProps extends DialogProps {
  dialog: RefObject<HTMLDialogElement | null>;
}

/**
 * Asks for confirmation or for input before an action. The dialog and its input stay until the
 * action succeeds. The browser keeps the focus inside, and Escape closes the dialog.
 */
export function Confirm({ dialog, title, confirm, onConfirm, children }: ConfirmProps) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  /** The text below the form. The fields of the form show their own errors. */
  const [rest, setRest] = useState<string>();
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = event.currentTarget;
    setBusy(true);
    onConfirm(new FormData(form), {
      onSuccess: () => {
        form.reset();
        dialog.current?.close();
      },
      onError: (error) => {
        setProblem(error);
        setRest(hasAllFields(error, form) ? undefined : describeError(error));
        setBusy(false);
      },
    });
  }
  function resetState(): void {
    setProblem(undefined);
    setRest(undefined);
    setBusy(false);
  }
  return (
    <dialog ref={dialog} aria-label={title} onClose={resetState}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        <FormProblem value={problem}>{children}</FormProblem>
        {rest !== undefined && (
          <p className="problem" role="alert">
            {rest}
          </p>
        )}
        <div className="actions">
          <Button onClick={() => dialog.current?.close()}>Cancel</Button>
          <Button type="submit" look="primary" disabled={isBusy}>
            {confirm}
          </Button>
        </div>
      </form>
    </dialog>
  );
}
