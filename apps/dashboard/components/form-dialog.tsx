import { Fragment, useRef, useState } from 'react';
import { type DialogProps, Confirm } from './confirm.js';
import { Button } from './parts.js';

interface FormDialogProps extends DialogProps {
  /** The label of the button that opens the dialog. */
  open: string;
  look?: 'primary' | 'danger' | 'quiet';
}

/** A button that opens a dialog with a form. */
export function FormDialog({ open, look, children, ...rest }: FormDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [openings, setOpenings] = useState(0);
  function show(): void {
    // Fields begin with the present values at each opening.
    setOpenings(openings + 1);
    dialog.current?.showModal();
  }
  return (
    <>
      <Button {...(look && { look })} onClick={show}>
        {open}
      </Button>
      <Confirm dialog={dialog} {...rest}>
        <Fragment key={openings}>{children}</Fragment>
      </Confirm>
    </>
  );
}
