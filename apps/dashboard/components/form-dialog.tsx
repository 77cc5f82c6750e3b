import { useRef } from 'react';
import { type Asking, Confirm } from './confirm.js';
import { Button } from './parts.js';

interface FormDialogProps extends Asking {
  /** The word on the button that opens it. */
  open: string;
  look?: 'primary' | 'danger' | 'quiet';
}

/** A button with a small form behind it. */
export function FormDialog({ open, look, children, ...rest }: FormDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <Button {...(look && { look })} onClick={() => dialog.current?.showModal()}>
        {open}
      </Button>
      <Confirm dialog={dialog} {...rest}>
        {children}
      </Confirm>
    </>
  );
}
