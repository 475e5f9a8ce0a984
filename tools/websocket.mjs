// Opens WebSockets to the server without a library, so that 1,000 of them take few resources on the
// client.
import net from 'node:net';

const PING = Buffer.from([0x89, 0x00]);
const MASKED_PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/**
 * Resolves to the socket and the first line of the response, or to an error. With `reads: false`,
 * the client stops reading.
 */
export function openWebSocket({ port, token, path, reads = true }) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.write(`GET /api/v1${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n`);
      socket.write(
        'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      );
    });
    socket.on('error', (error) => resolve({ socket, response: error.message }));
    socket.on('data', (data) => {
      resolve({ socket, response: data.toString('latin1').split('\r\n')[0] });
      if (!reads) socket.pause();
      else if (data.includes(PING)) socket.write(MASKED_PONG);
    });
  });
}

export const isAccepted = ({ response }) => response.includes(' 101 ');
