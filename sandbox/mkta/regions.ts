/** Properties of a region's invented items. */
export interface FakeRegion {
  currency: string;
  /** Minimum and maximum price in currency units, and the step between prices. */
  prices: readonly [least: number, most: number, step: number];
  places: readonly string[];
  things: readonly string[];
  kinds: readonly string[];
  colours: readonly string[];
  /** Formats a number of pieces sold for a listing. */
  sold(count: number): string;
}

function short(count: number, word: string, comma: boolean): string {
  if (count < 1000) return String(count);
  const thousands = Math.floor(count / 100) / 10;
  const text = thousands >= 10 ? String(Math.floor(thousands)) : String(thousands);
  return `${comma ? text.replace('.', ',') : text}${word}+`;
}

/** Regions of the fake marketplace A. */
export const regions: Readonly<Record<string, FakeRegion>> = {
  id: {
    currency: 'IDR',
    prices: [5_000, 900_000, 500],
    places: ['KOTA BUKIT HIJAU', 'KAB. TELAGA BIRU', 'KOTA MUARA BATU'],
    things: ['Rak Bambu Lipat', 'Teko Enamel', 'Senter Tidur', 'Tas Rajut', 'Gantungan Kunci Kayu'],
    kinds: ['Serbaguna', 'Ukuran Besar', 'Tahan Air', 'Edisi Pagi'],
    colours: ['Merah Bata', 'Biru Laut', 'Hijau Daun', 'Kuning Padi'],
    sold: (count) => `Terjual ${short(count, 'RB', true)}`,
  },
  sg: {
    currency: 'SGD',
    prices: [1.5, 180, 0.1],
    places: ['Overseas', 'Harbour East', 'Garden Quay'],
    things: [
      'Folding Bamboo Rack',
      'Enamel Kettle',
      'Bedside Torch',
      'Crochet Tote',
      'Wooden Key Hook',
    ],
    kinds: ['All Purpose', 'Large', 'Waterproof', 'Morning Edition'],
    colours: ['Brick Red', 'Sea Blue', 'Leaf Green', 'Straw'],
    sold: (count) => `${short(count, 'k', false)} sold`,
  },
  th: {
    currency: 'THB',
    prices: [20, 4_000, 1],
    places: ['จังหวัดสวนดอก', 'จังหวัดริมธาร'],
    things: ['ชั้นไม้ไผ่พับได้', 'กาน้ำเคลือบ', 'ไฟฉายหัวเตียง', 'กระเป๋าถัก'],
    kinds: ['อเนกประสงค์', 'ใบใหญ่', 'กันน้ำ'],
    colours: ['แดงอิฐ', 'ฟ้าทะเล', 'เขียวใบไม้'],
    sold: (count) =>
      count < 1000 ? `ขายแล้ว ${count} ชิ้น` : `ขายแล้ว ${Math.floor(count / 100) / 10}พัน ชิ้น`,
  },
  ph: {
    currency: 'PHP',
    prices: [30, 6_000, 1],
    places: ['Bayan ng Lawa', 'Lungsod ng Parola'],
    things: ['Folding Bamboo Rack', 'Enamel Kettle', 'Bedside Torch', 'Woven Bayong'],
    kinds: ['Pang-araw-araw', 'Malaki', 'Waterproof'],
    colours: ['Pula', 'Bughaw', 'Luntian'],
    sold: (count) => `${short(count, 'K', false)} sold`,
  },
  my: {
    currency: 'MYR',
    prices: [2, 500, 0.05],
    places: ['Bukit Teratai', 'Kuala Senja'],
    things: ['Rak Buluh Lipat', 'Cerek Enamel', 'Lampu Suluh Katil', 'Beg Kait'],
    kinds: ['Pelbagai Guna', 'Saiz Besar', 'Kalis Air'],
    colours: ['Merah Bata', 'Biru Laut', 'Hijau Daun'],
    sold: (count) => `${short(count, 'k', false)} terjual`,
  },
  vn: {
    currency: 'VND',
    prices: [9_000, 2_000_000, 1_000],
    places: ['TP. Hoa Sen', 'Tỉnh Suối Mơ'],
    things: ['Kệ Tre Gấp', 'Ấm Tráng Men', 'Đèn Pin Đầu Giường', 'Túi Móc Len'],
    kinds: ['Đa Năng', 'Cỡ Lớn', 'Chống Nước'],
    colours: ['Đỏ Gạch', 'Xanh Biển', 'Xanh Lá'],
    sold: (count) => `Đã bán ${short(count, 'k', true)}`,
  },
  tw: {
    currency: 'TWD',
    prices: [15, 6_000, 1],
    places: ['雲橋市', '竹溪縣'],
    things: ['摺疊竹架', '琺瑯水壺', '床頭手電筒', '鉤織提袋'],
    kinds: ['多用途', '大號', '防水'],
    colours: ['磚紅', '海藍', '葉綠'],
    sold: (count) =>
      `已售出 ${count < 10_000 ? count.toLocaleString('en') : `${Math.floor(count / 1000) / 10}萬`}`,
  },
  br: {
    currency: 'BRL',
    prices: [4.9, 900, 0.1],
    places: ['Vale Sereno', 'Porto das Andorinhas'],
    things: [
      'Estante de Bambu Dobrável',
      'Chaleira Esmaltada',
      'Lanterna de Cabeceira',
      'Bolsa de Crochê',
    ],
    kinds: ['Multiuso', 'Tamanho Grande', 'À Prova de Água'],
    colours: ['Vermelho Tijolo', 'Azul Mar', 'Verde Folha'],
    sold: (count) => `${short(count, 'mil', true)} vendidos`,
  },
};
