// Copying to the clipboard with a word about it. Over plain http the clipboard is closed to pages; the old way still works.
import { notifications } from '@mantine/notifications';

/** Copies a text and says what was copied. */
export async function copyText(what: string, text: string) {
  const done = (await writeModern(text)) || writeOld(text);
  notifications.show(
    done
      ? { message: `${what} copied` }
      : {
          message: `The browser would not copy. Select the text by hand: ${text}`,
          autoClose: false,
        },
  );
}

async function writeModern(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function writeOld(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}
