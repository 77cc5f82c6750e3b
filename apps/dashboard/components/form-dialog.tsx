import { Fragment, useRef, useState } from 'react';
import { type DialogProps, Confirm } from './confirm.js';
import { Button } from './parts.js';

interface FormDialogProps extends DialogProps {
  /** The label of the button that opens the dialog. */
  open: string;
  look?: 'primary' | 'danger' | 'quiet';
  /** The version of the thing that the form changes, for `ifMatch`. */
  version?: number;
}

/** A button that opens a dialog with a form. */
export function FormDialog({ open, look, version, children, ...rest }: FormDialogProps) {
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
        <Fragment key={openings}>
          {version !== undefined && <OpenedVersion version={version} />}
          {children}
        </Fragment>
      </Confirm>
    </>
  );
}

/** Keeps the version of the opening, because the page reads later ones while the form is open. */
function OpenedVersion({ version }: { version: number }) {
  const [opened] = useState(version);
  return <input type="hidden" name="version" value={opened} />;
}

/** The header of a change from a form with a version: a later version gets 412. */
export const ifMatch = (form: FormData) => ({ 'If-Match': `"${String(form.get('version'))}"` });
