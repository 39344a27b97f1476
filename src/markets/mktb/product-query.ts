import { typed } from './graphql.ts';

const campaign = `
  campaignID
  campaignType
  campaignTypeName
  campaignIdentifier
  background
  originalPrice
  stock
  stockSoldPercentage
  startDate
  endDate
  endDateUnix
  appLinks
  isAppsOnly
  isActive
  hideGimmick
`;
const theme = `
  thematicCampaign {
    additionalInfo
    background
    campaignName
    icon
  }
`;
const picture = `
  picture {
    urlOriginal: url
    urlThumbnail: url100
  }
`;

const components: readonly (readonly [string, string])[] = [
  [
    'pdpDataProductMedia',
    `
    media {
      type
      urlOriginal: URLOriginal
      urlThumbnail: URLThumbnail
      urlMaxRes: URLMaxRes
      videoUrl: videoURLAndroid
      prefix
      suffix
      description
      variantOptionID
    }
    videos {
      source
      url
    }
  `,
  ],
  [
    'pdpDataProductContent',
    `
    name
    price {
      value
      currency
      priceFmt
      slashPriceFmt
      discPercentage
    }
    campaign {
      ${campaign}
      percentageAmount
      discountedPrice
      originalStock
      threshold
    }
    ${theme}
    stock {
      useStock
      value
      stockWording
    }
    variant {
      isVariant
      parentID
    }
    wholesale {
      minQty
      price {
        value
        currency
      }
    }
    isCashback {
      percentage
    }
    isTradeIn
    isOS
    isPowerMerchant
    isWishlist
    isCOD
    preorder {
      duration
      timeUnit
      isActive
      preorderInDays
    }
  `,
  ],
  [
    'pdpDataProductVariant',
    `
    errorCode
    parentID
    defaultChild
    sizeChart
    totalStockFmt
    variants {
      productVariantID
      variantID
      name
      identifier
      option {
        ${picture}
        productVariantOptionID
        variantUnitValueID
        value
        hex
        stock
      }
    }
    children {
      productID
      price
      priceFmt
      slashPriceFmt
      discPercentage
      optionID
      optionName
      productName
      productURL
      ${picture}
      stock {
        stock
        isBuyable
        stockWordingHTML
        minimumOrder
        maximumOrder
      }
      isCOD
      isWishlist
      campaignInfo {
        ${campaign}
        discountPercentage
        discountPrice
        isCheckImei
        minOrder
      }
      ${theme}
    }
  `,
  ],
  [
    'pdpDataProductDetail',
    `
    content {
      title
      subtitle
      applink
      showAtFront
      isAnnotation
    }
  `,
  ],
  [
    'pdpDataProductInfo',
    `
    row
    content {
      title
      subtitle
      applink
    }
  `,
  ],
  [
    'pdpDataInfo',
    `
    icon
    title
    isApplink
    applink
    content {
      icon
      text
    }
  `,
  ],
  [
    'pdpDataCustomInfo',
    `
    icon
    title
    isApplink
    applink
    separator
    description
  `,
  ],
  [
    'pdpDataSocialProof',
    `
    row
    content {
      icon
      title
      subtitle
      applink
      type
      rating
    }
  `,
  ],
  [
    'pdpDataProductDetailMediaComponent',
    `
    title
    description
    contentMedia {
      url
      ratio
      type
    }
    show
    ctaText
  `,
  ],
];

const basicInfo = `
  alias
  createdAt
  isQA
  id: productID
  shopID
  shopName
  minOrder
  maxOrder
  weight
  weightUnit
  condition
  status
  url
  needPrescription
  catalogID
  isLeasing
  isBlacklisted
  isTokoNow
  menu {
    id
    name
    url
  }
  category {
    id
    name
    title
    breadcrumbURL
    isAdult
    isKyc
    minAge
    detail {
      id
      name
      breadcrumbURL
      isAdult
    }
  }
  txStats {
    transactionSuccess
    transactionReject
    countSold
    paymentVerified
    itemSoldFmt
  }
  stats {
    countView
    countReview
    countTalk
    rating
  }
`;

/** Queries all product data of a product page. */
export const productQuery = [
  'query PDPGetLayoutQuery($shopDomain: String, $productKey: String, $layoutID: String, $apiVersion: Float,',
  '$userLocation: pdpUserLocation, $extParam: String) {',
  'pdpGetLayout(shopDomain: $shopDomain, productKey: $productKey, layoutID: $layoutID, apiVersion: $apiVersion,',
  'userLocation: $userLocation, extParam: $extParam)',
  typed(`{ requestID name pdpSession basicInfo { ${basicInfo} } components { name type position data {
    ${components.map(([type, fields]) => `... on ${type} { ${fields} }`).join(' ')} } } }`),
  '}',
].join(' ');
