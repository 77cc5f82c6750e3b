import { type FormEvent, type ReactNode, type RefObject, useState } from 'react';
import { sentenceOf } from '../api/read.js';
import { Button } from './parts.js';

/** What follows on an attempt. */
interface Ends {
  onSuccess: () => void;
  onError: (error: unknown) => void;
}

export interface Asking {
  title: string;
  /** The word on the button that does it. */
  confirm: string;
  onConfirm: (given: FormData, ends: Ends) => void;
  children: ReactNode;
}

interface ConfirmProps extends Asking {
  dialog: RefObject<HTMLDialogElement | null>;
}

/**
 * Asks before something is done that cannot be taken back, or for what it needs. It stays, with what was typed, until it
 * is done; the browser keeps the focus inside; Escape leaves it.
 */
export function Confirm({ dialog, title, confirm, onConfirm, children }: ConfirmProps) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
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
        setProblem(sentenceOf(error));
        setBusy(false);
      },
    });
  }
  function forget(): void {
    setProblem(undefined);
    setBusy(false);
  }
  return (
    <dialog ref={dialog} aria-label={title} onClose={forget}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        {children}
        {problem !== undefined && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <div className="actions">
          <Button onClick={() => dialog.current?.close()}>Back</Button>
          <Button type="submit" look="primary" disabled={isBusy}>
            {confirm}
          </Button>
        </div>
      </form>
    </dialog>
  );
}
