// Copies text to the clipboard and shows a toast. `navigator.clipboard` does not exist over plain
// HTTP, so `execCommand` is used there.
import { notifications } from '@mantine/notifications';

export async function copyText(label: string, text: string) {
  const copied = (await writeClipboard(text)) || copySelection(text);
  notifications.show(
    copied
      ? { message: `${label} copied` }
      : { message: `Copying failed. Select and copy the text: ${text}`, autoClose: false },
  );
}

async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function copySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  return copied;
}
